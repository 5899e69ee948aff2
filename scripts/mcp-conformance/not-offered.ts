// Scenarios about extensions that we do not offer, which the protocol leaves to everybody, and scenarios in which the package checks nothing.

type Reasons = { readonly [scenario: string]: string }

const SKILLS = 'the extension of skills is not offered'

export const NOT_OFFERED: { readonly server: Reasons; readonly client: Reasons } = {
  server: {
    'sep-2640-skills-directory': SKILLS,
    'sep-2640-skills-enumeration': SKILLS,
    'sep-2640-skills-manifest': SKILLS,
    'tasks-status-notifications': 'the package checks nothing here yet',
  },
  client: {
    'sep-2640-client-no-prefetch': SKILLS,
    'sep-2640-client-verify-digest': SKILLS,
    'sep-2640-client-verify-size': SKILLS,
    'sep-2640-client-verify-frontmatter': SKILLS,
  },
}
