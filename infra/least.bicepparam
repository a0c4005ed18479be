// The least that can be deployed. The public workflow evaluates it (.github/workflows/ci.yml).
using 'main.bicep'

param environmentName = 'least'
param location = 'westeurope'
param principalId = '00000000-0000-0000-0000-000000000001'
