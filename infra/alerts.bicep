// The seven alerts that matter. Each query reads what the app logs, one JSON object a line (docs/how-to/operate-a-deployment.md).
param location string
param token string
param tags object
param insightsId string
param topicId string
param storageId string
param email string

var line = 'traces | extend line = parse_json(message)'
// What Azure counts where the limits of an account are reached, apart from its other throttling.
var throttling = [
  'ClientAccountBandwidthThrottlingError'
  'ClientAccountRequestThrottlingError'
  'ClientThrottlingError'
  'ServerBusyError'
  'SuccessWithThrottling'
]
var actions = empty(email) ? [] : [people.id]

resource people 'Microsoft.Insights/actionGroups@2023-01-01' = if (!empty(email)) {
  name: 'ag-${token}'
  location: 'global'
  tags: tags
  properties: {
    groupShortName: 'slipway'
    enabled: true
    emailReceivers: [{ name: 'operator', emailAddress: email, useCommonAlertSchema: true }]
  }
}

var queries = [
  {
    name: 'poison'
    about: 'A message used up its tries and is kept: slipway dead list.'
    query: '${line} | where tostring(line.logger) == "shared.intake.dead_letter" and severityLevel >= 3'
    operator: 'GreaterThan'
    threshold: 0
    severity: 2
  }
  {
    name: 'sweeper-silent'
    about: 'The sweeper has not run for ten minutes: no process watches the jobs.'
    query: 'requests | where operation_Name == "sweeper"'
    operator: 'LessThan'
    threshold: 1
    severity: 1
  }
  {
    name: 'parked'
    about: 'A submission waits for a repair of the deployment: slipway show names it.'
    query: '${line} | where tostring(line.action) == "parked"'
    operator: 'GreaterThan'
    threshold: 0
    severity: 2
  }
  {
    name: 'quota'
    about: 'A cluster is full, or lacks quota for a job.'
    query: '${line} | where tostring(line.action) == "saturated"'
    operator: 'GreaterThan'
    threshold: 0
    severity: 3
  }
  {
    name: 'exceptions'
    about: 'A function failed with an unexpected error.'
    query: 'exceptions'
    operator: 'GreaterThan'
    threshold: 0
    severity: 2
  }
]

resource rules 'Microsoft.Insights/scheduledQueryRules@2023-12-01' = [
  for one in queries: {
    name: 'alert-${one.name}-${token}'
    location: location
    tags: tags
    kind: 'LogAlert'
    properties: {
      displayName: 'Slipway: ${one.name}'
      description: one.about
      severity: one.severity
      enabled: true
      // The tables come with the first lines of the app, after the template: Azure would refuse what reads them.
      skipQueryValidation: true
      scopes: [insightsId]
      evaluationFrequency: 'PT5M'
      windowSize: 'PT10M'
      criteria: {
        allOf: [
          {
            query: one.query
            timeAggregation: 'Count'
            operator: one.operator
            threshold: one.threshold
            failingPeriods: { numberOfEvaluationPeriods: 1, minFailingPeriodsToAlert: 1 }
          }
        ]
      }
      actions: { actionGroups: actions }
      autoMitigate: true
    }
  }
]

resource deadLetters 'Microsoft.Insights/metricAlerts@2018-03-01' = {
  name: 'alert-dead-letters-${token}'
  location: 'global'
  tags: tags
  properties: {
    description: 'Event Grid could not deliver an event of a drop: the container dead-letters has it.'
    severity: 2
    enabled: true
    scopes: [topicId]
    evaluationFrequency: 'PT5M'
    windowSize: 'PT15M'
    criteria: {
      'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
      allOf: [
        {
          criterionType: 'StaticThresholdCriterion'
          name: 'dead'
          metricName: 'DeadLetteredCount'
          timeAggregation: 'Total'
          operator: 'GreaterThan'
          threshold: 0
        }
      ]
    }
    actions: [for id in actions: { actionGroupId: id }]
  }
}

resource throttled 'Microsoft.Insights/metricAlerts@2018-03-01' = {
  name: 'alert-throttled-${token}'
  location: 'global'
  tags: tags
  properties: {
    description: 'Storage refuses requests because there are too many: see docs/explanation/scale.md.'
    severity: 3
    enabled: true
    scopes: [storageId]
    evaluationFrequency: 'PT5M'
    windowSize: 'PT15M'
    criteria: {
      'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
      allOf: [
        {
          criterionType: 'StaticThresholdCriterion'
          name: 'throttled'
          metricName: 'Transactions'
          dimensions: [
            { name: 'ResponseType', operator: 'Include', values: throttling }
          ]
          timeAggregation: 'Total'
          operator: 'GreaterThan'
          threshold: 10
        }
      ]
    }
    actions: [for id in actions: { actionGroupId: id }]
  }
}
