// `npm run build:vsix`: the extension for VS Code as one installable file. Its dependencies are bundled, so that the archive has few files;
// vscode-languageclient is installed from npm into a separate folder, since nothing else here needs it.

import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { root } from './workspace.mjs'

const source = join(root, 'editors', 'vscode')

interface Manifest {
  readonly name: string
  readonly displayName: string
  readonly description: string
  readonly version: string
  readonly publisher: string
  readonly license: string
  readonly categories: readonly string[]
  readonly engines: { readonly vscode: string }
  readonly [key: string]: unknown
}

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** https://learn.microsoft.com/en-us/previous-versions/visualstudio/visual-studio-2015/extensibility/vsix-extension-schema-2-0-reference */
function renderVsixManifest(manifest: Manifest): string {
  const { name, displayName, description, version, publisher, categories, engines } = manifest
  const asset = (type: string, path: string): string => `    <Asset Type="${type}" Path="${path}" Addressable="true"/>\n`
  return `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="${escapeXml(name)}" Version="${escapeXml(version)}" Publisher="${escapeXml(publisher)}"/>
    <DisplayName>${escapeXml(displayName)}</DisplayName>
    <Description xml:space="preserve">${escapeXml(description)}</Description>
    <Categories>${escapeXml(categories.join(','))}</Categories>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="${escapeXml(engines.vscode)}"/>
    </Properties>
    <License>extension/LICENSE.txt</License>
  </Metadata>
  <Installation>
    <InstallationTarget Id="Microsoft.VisualStudio.Code"/>
  </Installation>
  <Dependencies/>
  <Assets>
${asset('Microsoft.VisualStudio.Code.Manifest', 'extension/package.json')}${asset('Microsoft.VisualStudio.Services.Content.Details', 'extension/README.md')}${asset('Microsoft.VisualStudio.Services.Content.License', 'extension/LICENSE.txt')}  </Assets>
</PackageManifest>
`
}

const CONTENT_TYPES = `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension=".json" ContentType="application/json"/><Default Extension=".vsixmanifest" ContentType="text/xml"/><Default Extension=".md" ContentType="text/markdown"/><Default Extension=".txt" ContentType="text/plain"/><Default Extension=".js" ContentType="application/javascript"/></Types>
`

/** Contents of the archive, by path; `code` is the bundled extension. */
export function listVsixFiles(code: string): { readonly [path: string]: string } {
  const read = (path: string): string => readFileSync(join(source, path), 'utf8')
  // Bundled code is not a dependency of the archive.
  const { dependencies: _, private: _private, ...manifest } = JSON.parse(read('package.json')) as Manifest
  const data = [
    'language-configuration.json',
    'snippets.json',
    'syntaxes/harn.tmLanguage.json',
    'syntaxes/harn-prompt.tmLanguage.json',
  ]
  return {
    '[Content_Types].xml': CONTENT_TYPES,
    'extension.vsixmanifest': renderVsixManifest(manifest as unknown as Manifest),
    'extension/package.json': `${JSON.stringify(manifest, null, 2)}\n`,
    'extension/extension.js': code,
    ...Object.fromEntries(data.map((path) => [`extension/${path}`, read(path)])),
    'extension/README.md': read('README.md'),
    'extension/LICENSE.txt': readFileSync(join(root, 'LICENSE'), 'utf8'),
  }
}

async function bundleExtension(folder: string): Promise<string> {
  for (const name of ['package.json', 'extension.js']) cpSync(join(source, name), join(folder, name))
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const words = ['install', '--omit=dev', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts']
  const { status } = spawnSync(npm, words, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  })
  if (status !== 0)
    throw new Error('npm cannot install vscode-languageclient, which the extension needs: is the registry reachable?')
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: ['extension.js'],
    bundle: true,
    platform: 'node',
    target: 'node20',
    external: ['vscode'],
    minify: true,
    legalComments: 'eof',
    write: false,
  })
  return outputFiles[0]!.text
}

export async function buildVsix(target: string): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bridle-vsix-'))
  try {
    const files = listVsixFiles(await bundleExtension(folder))
    const { strToU8, zipSync } = createRequire(join(root, 'packages', 'stdlib-tools', 'package.json'))('fflate') as {
      readonly strToU8: (text: string) => Uint8Array
      readonly zipSync: (files: { readonly [path: string]: Uint8Array }, options: object) => Uint8Array
    }
    const entries = Object.entries(files).map(([path, text]) => [path, strToU8(text)] as const)
    // One time stamp for all, so that the same sources give the same archive.
    writeFileSync(target, zipSync(Object.fromEntries(entries), { level: 9, mtime: '1980-01-02' }))
    return Object.keys(files)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { name, version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Manifest
  mkdirSync(join(source, 'dist'), { recursive: true })
  const target = join(source, 'dist', `${name}-${version}.vsix`)
  const files = await buildVsix(target)
  process.stdout.write(`wrote ${target}: ${files.length} files\n`)
}
