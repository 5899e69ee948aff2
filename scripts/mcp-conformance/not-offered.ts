// Scenarios about optional extensions that we do not offer, and scenarios in which the package checks nothing.

type Reasons = { readonly [scenario: string]: string }

export const NOT_OFFERED: { readonly server: Reasons; readonly client: Reasons } = {
  server: {
    'tasks-status-notifications': 'the package checks nothing here yet',
  },
  client: {},
}
