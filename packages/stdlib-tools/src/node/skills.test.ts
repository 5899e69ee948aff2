import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { display } from '@bridle/vm'
import { afterAll, describe, expect, test } from 'vitest'
import { discoverSkills } from './find-skills.js'

const folder = mkdtempSync(join(tmpdir(), 'bridle-skills-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function writeSkill(path: string, short: string, more = ''): void {
  const file = join(folder, path, 'SKILL.md')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `---\nshort: ${short}\n${more}---\nText of ${path}`)
}

writeSkill('home/.harn/skills/one', 'of the user')
writeSkill('home/.harn/skills/two', 'of the user')
writeSkill('config/harn/skills/three', 'of the system')
writeSkill('project/.harn/skills/one', 'of the project')
writeSkill('project/.harn/packages/pack/skills/two', 'of a package')
writeSkill('project/.harn/packages/pack/skills/four', 'of a package')
writeSkill('project/vendor/one', 'of a vendor')
writeSkill('extra/five', 'of the environment')
writeSkill('bad/odd', '')
writeSkill('bad/worse', 'x', 'name: [\n')

const env = { HOME: join(folder, 'home'), XDG_CONFIG_HOME: join(folder, 'config'), HARN_SKILLS_PATH: '' }
const makeManifest = (skills: { readonly [key: string]: unknown }, more: { readonly [key: string]: unknown } = {}) => ({
  path: join(folder, 'project', 'harn.toml'),
  tables: { skills, ...more },
})
const findSkills = (sources: Parameters<typeof discoverSkills>[0]) => {
  const registry = discoverSkills({ env, ...sources }).registry
  return registry === null ? '' : display(registry)
}
const listShorts = (text: string) => [...text.matchAll(/short: ([\w ]+)/g)].map((match) => match[1])

describe('skills in folders', () => {
  test('a higher layer shadows a lower one', () => {
    expect(listShorts(findSkills({ manifest: null }))).toEqual(['of the user', 'of the system', 'of the user'])
    expect(listShorts(findSkills({ manifest: makeManifest({}) }))).toEqual([
      'of a package',
      'of the project',
      'of the system',
      'of the user',
    ])
    expect(
      listShorts(
        findSkills({ manifest: makeManifest({ paths: ['vendor'] }), env: { ...env, HARN_SKILLS_PATH: join(folder, 'extra') } }),
      ),
    ).toEqual(['of the environment', 'of a package', 'of the project', 'of the system', 'of the user'])
    expect(listShorts(findSkills({ manifest: null, folders: [join(folder, 'project', 'vendor', 'one')] }))[0]).toBe('of a vendor')
  })

  test('layers are ordered and left out by the manifest', () => {
    expect(listShorts(findSkills({ manifest: makeManifest({ lookup_order: ['user', 'project'] }) }))[1]).toBe('of the user')
    expect(listShorts(findSkills({ manifest: makeManifest({ disable: ['user', 'system', 'package'] }) }))).toEqual([
      'of the project',
    ])
    expect(findSkills({ manifest: makeManifest({ disable: ['user', 'system', 'package', 'project'] }) })).toBe('')
  })

  test('a namespace keeps skills of one name apart', () => {
    const sources = {
      manifest: makeManifest(
        { disable: ['user', 'system', 'package'] },
        { skill: { source: [{ path: 'vendor', namespace: 'v' }] } },
      ),
    }
    const { find } = discoverSkills({ env, ...sources })
    expect(find('v/one')).toMatchObject({ body: 'Text of project/vendor/one', namespace: 'v' })
    expect(find('one')).toMatchObject({ body: 'Text of project/.harn/skills/one' })
    expect(find('nowhere')).toBeNull()
  })

  test('unreadable files are reported', () => {
    const { problems, registry } = discoverSkills({
      manifest: null,
      env: { ...env, HOME: join(folder, 'none'), XDG_CONFIG_HOME: join(folder, 'none'), HARN_SKILLS_PATH: join(folder, 'bad') },
    })
    expect(registry).toBeNull()
    expect(problems.map((problem) => problem.replace(/^.*SKILL\.md: /, ''))).toEqual([
      'SKILL.md frontmatter requires a non-empty `short` field',
      'SKILL.md frontmatter is not a map in YAML',
    ])
  })
})
