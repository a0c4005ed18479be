// Everything that can be deployed, for the public workflow (.github/workflows/ci.yml), where Microsoft's rules see it.
using 'main.bicep'

param environmentName = 'fullest'
param location = 'westeurope'
param principalId = '00000000-0000-0000-0000-000000000001'
param engine = 'batch'
param vnetEnabled = true
param natGateway = true
param audience = 'api://00000000-0000-0000-0000-000000000002'
param alertEmail = 'operator@example.com'
param monthlyBudget = 100
param budgetStart = '2027-01-01'
param alwaysReady = 1
param batchMinNodes = 1
param batchSpot = true
