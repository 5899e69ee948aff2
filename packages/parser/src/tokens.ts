// THE table of tokens. The lexer turns a source into a *token string*: one UTF-16 unit from the private use area for each token,
// which is what harn.ohm is matched against. A row here is the spelling by which harn.ohm names the token; words and operators
// are spelled as in a script, classes of tokens in angle brackets. The unit of a token is FIRST_UNIT plus its index in the table.
//
// The order matters: harn.ohm uses ranges for groups of neighbours ("gen".."try" are the tokens that begin a statement),
// because one range is one step of the matcher instead of many alternatives. The groups are marked below.

export const FIRST_UNIT = 0xe000

export const TOKEN_SPELLINGS = [
  // Identifiers "<ident>".."gen": plain ones, those that begin with an upper-case letter, and the contextual words, which are
  // identifiers unless harn.ohm requires the word itself.
  '<ident>',
  '<Ident>',
  'each',
  'settle',
  'with',
  'max_concurrent',
  'as',
  'stream',
  'timeout',
  'default',
  'description',
  'summarize',
  'not',
  'where',
  'out',
  // Tokens that begin statements "gen".."try" (`finally` does not, but is harmless there).
  'gen',
  '@',
  // Words of the grants extension, made by grant-syntax.ts where a file has opted in; plain identifiers everywhere else.
  '<use>',
  '<grant>',
  '<bind>',
  // Keywords that are never names, "finally".."skill".
  'finally',
  'eval_pack',
  'require',
  'select',
  'skill',
  // Keywords that are also allowed as member names and keys, "break".."nil"; of these "deadline".."spawn" begin expressions.
  'break',
  'continue',
  'defer',
  'emit',
  'enum',
  'for',
  'guard',
  'impl',
  'import',
  'pipeline',
  'interface',
  'let',
  'mutex',
  'override',
  'pub',
  'return',
  'struct',
  'throw',
  'tool',
  'type',
  'var',
  'while',
  'yield',
  'deadline',
  'fn',
  'if',
  'match',
  'parallel',
  'retry',
  'try',
  'spawn',
  'catch',
  'else',
  'exclusive',
  'extends',
  'from',
  'in',
  'to',
  // Literals "true".."<triple>"; of these "<string>".."<triple>" hold strings without interpolation and with escapes or dedent.
  'true',
  'false',
  'nil',
  '<int>',
  '<float>',
  '<duration>',
  '<rawString>',
  '<interpolated>',
  '<string>',
  '<triple>',
  // The name of a named argument, in calls of a tool that `use tool` names.
  '<argument>',
  // Prefix operators "!".."-", then the binary operators before which a line may be broken, "||".."**".
  '!',
  '-',
  '||',
  '&&',
  '==',
  '!=',
  '<=',
  '>=',
  '<',
  '>',
  '+',
  '??',
  '*',
  '/',
  '%',
  '**',
  // Assignment "=".."%=".
  '=',
  '+=',
  '-=',
  '*=',
  '/=',
  '%=',
  // Opening braces "{".."{->". The lexer has looked ahead: the second has an arrow before its closing brace, at its own depth.
  '{',
  '{->',
  '}',
  '(',
  ')',
  ']',
  ',',
  ':',
  ';',
  '|',
  '|>',
  '->',
  '...',
  // Tokens that can continue after an operand "?.".."\n"; among them access "?.".."." and brackets "[".."?". A run of line breaks, with
  // any blanks and comments between them, is one token.
  '?.',
  '.',
  '[',
  '?',
  '\n',
] as const

export type TokenName = (typeof TOKEN_SPELLINGS)[number]

/** Code units by spelling. */
export const TOKEN = Object.fromEntries(TOKEN_SPELLINGS.map((name, at) => [name, FIRST_UNIT + at])) as Readonly<
  Record<TokenName, number>
>

export function tokenName(unit: number): TokenName {
  const name = TOKEN_SPELLINGS[unit - FIRST_UNIT]
  if (name === undefined) throw new RangeError(`no token has the code unit ${unit}`)
  return name
}

/** Code units of tokens with a fixed spelling, by spelling. */
export function isWordToken(name: TokenName): boolean {
  return /^[a-z]/.test(name)
}

/** Words that are recognised by spelling: keywords and contextual words. */
export const WORDS: ReadonlyMap<string, number> = new Map(TOKEN_SPELLINGS.filter(isWordToken).map((name) => [name, TOKEN[name]]))

export function isIdentifierUnit(unit: number): boolean {
  return unit >= TOKEN['<ident>'] && unit <= TOKEN.gen
}

/** Words of the grants extension only. */
export function isExtensionUnit(unit: number): boolean {
  return (unit >= TOKEN['<use>'] && unit <= TOKEN['<bind>']) || unit === TOKEN['<argument>']
}

/** Reserved words, which cannot be identifiers. */
export function isKeywordUnit(unit: number): boolean {
  return unit >= TOKEN.finally && unit <= TOKEN.nil
}

/** All reserved words, sorted. */
export const KEYWORDS: readonly string[] = TOKEN_SPELLINGS.filter(
  (name) => isWordToken(name) && isKeywordUnit(TOKEN[name]),
).toSorted()

export function isKeyword(word: string): boolean {
  const unit = WORDS.get(word)
  return unit !== undefined && isKeywordUnit(unit)
}
