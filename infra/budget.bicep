// What the resource group may cost in a month, before someone gets a message.
param amount int
param start string
param email string

resource budget 'Microsoft.Consumption/budgets@2024-08-01' = {
  name: 'slipway'
  properties: {
    category: 'Cost'
    amount: amount
    timeGrain: 'Monthly'
    timePeriod: { startDate: start }
    notifications: {
      most: { enabled: true, operator: 'GreaterThan', threshold: 80, contactEmails: [email], thresholdType: 'Actual' }
      all: { enabled: true, operator: 'GreaterThan', threshold: 100, contactEmails: [email], thresholdType: 'Actual' }
    }
  }
}
