// Facts about values of the language for the checks of uses.ts: which kinds can be called, iterated, compared, and what names of
// types, parameters and methods mean.

export const HOLDS_NOTHING: ReadonlySet<string> = new Set([
  'int',
  'float',
  'bool',
  'nil',
  'closure',
  'builtin',
  'duration',
  'enum',
  'pair',
])
/** A string has characters to index, but cannot be iterated. */
export const NOTHING_TO_ITERATE: ReadonlySet<string> = new Set(['string', ...HOLDS_NOTHING])
export const NO_CALL: ReadonlySet<string> = new Set([
  'int',
  'float',
  'string',
  'bool',
  'nil',
  'list',
  'dict',
  'set',
  'range',
  'duration',
  'bytes',
  'struct',
  'enum',
])
export const NO_PROPERTY: ReadonlySet<string> = new Set([
  'int',
  'float',
  'bool',
  'nil',
  'duration',
  'closure',
  'builtin',
  'range',
  'set',
  'bytes',
])

export const PROPERTIES: Readonly<Record<string, readonly string[]>> = {
  list: ['count', 'empty', 'first', 'last'],
  string: ['count', 'empty'],
  enum: ['variant', 'fields'],
  pair: ['first', 'second'],
}

/** Kinds whose values may be equal to each other. */
export const EQUAL_GROUPS: Readonly<Record<string, string>> = {
  int: 'number',
  float: 'number',
  duration: 'number',
  list: 'sequence',
  range: 'sequence',
  set: 'sequence',
  iter: 'sequence',
  dict: 'record',
  struct: 'record',
  builtin: 'closure',
}

/** Without an argument they print an empty line. */
export const PRINTS: ReadonlySet<string> = new Set(['print', 'println', 'eprint', 'eprintln', 'log'])

/** Calls whose optional argument has a surprising default: `split()` does not split at spaces. */
export const NEEDED: Readonly<Record<string, number>> = { split: 2, 'string.split': 1 }

/** Values that a conversion to a number turns into nil. */
export const NO_NUMBER: ReadonlySet<string> = new Set([
  ...['list', 'dict', 'set', 'closure', 'builtin', 'range', 'pair', 'bool', 'nil', 'struct', 'enum', 'bytes', 'iter'],
])

/** Strings that a conversion turns into a number. */
export const NUMBER_TEXTS: Readonly<Record<string, RegExp>> = {
  to_int: /^\s*[+-]?\d+\s*$/,
  to_float: /^\s*[+-]?(?:\d|\.\d|inf|nan)/i,
}

export const NO_INDEX: ReadonlySet<string> = new Set([
  ...['int', 'float', 'bool', 'nil', 'closure', 'builtin', 'duration', 'struct', 'set', 'enum', 'pair'],
  ...['generator', 'stream', 'iter', 'channel', 'task_handle'],
])

/** Parameter names for a string as which any value can be formatted. A path, a pattern or a name is not one. */
export const TEXT_PARAMS: ReadonlySet<string> = new Set([
  ...[
    'content',
    'text',
    's',
    'str',
    'value',
    'message',
    'body',
    'data',
    'input',
    'line',
    'msg',
    'after',
    'before',
    'prefix',
    'suffix',
  ],
  ...['substr', 'part', 'old', 'new', 'needle', 'haystack', 'string', 'prompt', 'system', 'source', 'title', 'label', 'payload'],
])
export const FUNCTIONS: ReadonlySet<string> = new Set(['closure', 'builtin'])
export const ARITHMETIC: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%', '**'])
export const LITERALS: ReadonlySet<string> = new Set(['String', 'Int', 'Float', 'Bool', 'Duration'])

/** Results of `type_of` for values of the language. */
export const TYPE_NAMES: ReadonlySet<string> = new Set([
  ...['string', 'int', 'bool', 'nil', 'list', 'dict', 'float', 'closure', 'builtin', 'struct', 'enum', 'set', 'range', 'pair'],
  ...['duration', 'bytes', 'iter', 'generator', 'stream', 'channel', 'task_handle', 'atomic'],
  ...['rng', 'sync_permit', 'mutex', 'gate', 'semaphore'],
])

/** Names of types in other languages. */
export const TYPE_HABITS: Readonly<Record<string, string | undefined>> = {
  integer: 'int',
  Integer: 'int',
  Int: 'int',
  Float: 'float',
  Double: 'float',
  Bool: 'bool',
  Boolean: 'bool',
  Any: 'any',
  Map: 'dict',
  HashMap: 'dict',
  Dict: 'dict',
  List: 'list',
  Vec: 'list',
  i32: 'int',
  i64: 'int',
  u32: 'int',
  u64: 'int',
  usize: 'int',
  f32: 'float',
  f64: 'float',
  char: 'string',
  void: 'nil',
  Callable: 'closure',
  Function: 'closure',
  number: 'float',
  double: 'float',
  str: 'string',
  String: 'string',
  array: 'list',
  Array: 'list',
  object: 'dict',
  map: 'dict',
  Object: 'dict',
  boolean: 'bool',
  null: 'nil',
  undefined: 'nil',
  None: 'nil',
  NoneType: 'nil',
  function: 'closure',
  fn: 'closure',
  func: 'closure',
  tuple: 'list',
  Record: 'dict',
  Set: 'set',
}

/** Methods that search for an item. */
export const HOLDING: ReadonlySet<string> = new Set(['contains', 'index_of', 'count_of'])
export const HAS_POSITIONS: ReadonlySet<string> = new Set(['list', 'string', 'bytes'])
export const NO_POSITION: ReadonlySet<string> = new Set(['string', 'bool', 'nil', 'list', 'dict', 'set', 'closure'])
/** The callee of a pipe may be named by a string, and its value may be put into a list or dict in place of `_`. */
export const NO_PIPE: ReadonlySet<string> = new Set(['int', 'float', 'bool', 'nil', 'duration', 'range', 'set'])
export const NO_ARITHMETIC: ReadonlySet<string> = new Set([
  ...['string', 'bool', 'nil', 'list', 'dict', 'set', 'closure', 'builtin', 'range', 'enum'],
])

/** Methods whose callback gets this many arguments. */
export const CALLBACK_ARGUMENTS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    [
      ...['map', 'filter', 'find', 'find_index', 'any', 'all', 'every', 'none', 'flat_map', 'sort_by', 'group_by', 'partition'],
      ...['min_by', 'max_by', 'for_each', 'take_while', 'skip_while', 'map_values', 'map_keys', 'rekey'],
    ].map((name) => [name, 1]),
  ),
  reduce: 2,
}

/** Methods that make a list from an iterator. */
export const TO_LIST: ReadonlySet<string> = new Set(['to_list', 'toList', 'collect', 'toArray', 'to_array', 'to_vec'])

/** Functions that other languages have as methods, by the kind of their first argument. */
export const FUNCTIONS_OF: Readonly<Record<string, Readonly<Record<string, string | undefined>> | undefined>> = {
  channel: {
    send: 'send',
    put: 'send',
    push: 'send',
    recv: 'receive',
    receive: 'receive',
    get: 'receive',
    try_recv: 'try_receive',
    try_receive: 'try_receive',
    close: 'close_channel',
  },
  Result: {
    ok: 'unwrap',
    is_ok: 'is_ok',
    isOk: 'is_ok',
    is_err: 'is_err',
    is_error: 'is_err',
    isErr: 'is_err',
    unwrap: 'unwrap',
    unwrap_or: 'unwrap_or',
    unwrap_err: 'unwrap_err',
    expect: 'unwrap',
    err: 'unwrap_err',
  },
  task_handle: { await: 'await', result: 'await', join: 'await', get: 'await', cancel: 'cancel', then: 'await' },
}

/** Fields of results under their names in other languages and libraries: the first one that a result has is meant. */
export const FIELD_HABITS: Readonly<Record<string, readonly string[] | undefined>> = {
  idx: ['index'],
  i: ['index'],
  position: ['index', 'column'],
  k: ['key'],
  item: ['value', 'item'],
  element: ['value'],
  val: ['value'],
  v: ['value'],
  output: ['stdout', 'text', 'data'],
  out: ['stdout'],
  err: ['stderr', 'error'],
  exit_code: ['status'],
  exitCode: ['status'],
  exit_status: ['status'],
  exitStatus: ['status'],
  returncode: ['status'],
  return_code: ['status'],
  code: ['status'],
  status_code: ['status'],
  statusCode: ['status'],
  success: ['ok'],
  succeeded: ['success', 'ok'],
  is_success: ['success', 'ok'],
  ok: ['success', 'valid', 'pass'],
  text: ['body', 'stdout'],
  content: ['text', 'body', 'data'],
  contents: ['text', 'body', 'content'],
  data: ['body', 'text'],
  html: ['body'],
  response: ['text'],
  message: ['text', 'error'],
  answer: ['text'],
  completion: ['text'],
  result: ['text', 'data'],
  final_text: ['text'],
  iterations: ['llm'],
  is_directory: ['is_dir'],
  isDirectory: ['is_dir'],
  isFile: ['is_file'],
  mtime: ['modified'],
  modified_at: ['modified'],
  length: ['size'],
  hostname: ['host'],
  protocol: ['scheme'],
  pathname: ['path'],
  search: ['query'],
  hash: ['fragment'],
  filename: ['file', 'path'],
  basename: ['file'],
  extension: ['ext'],
  suffix: ['ext'],
  parent: ['dir'],
}

/** Method calls by which other libraries read a field: `r.json()` for `json_parse(r.body)`. */
export const FIELD_READERS: Readonly<Record<string, { readonly field: string; readonly call: string } | undefined>> = {
  json: { field: 'body', call: 'json_parse' },
}

/** Kinds of which no element can be assigned. */
export const NO_PARTS: ReadonlySet<string> = new Set([
  ...['string', 'int', 'float', 'bool', 'nil', 'set', 'range', 'duration', 'closure', 'builtin', 'struct', 'enum', 'pair'],
])

/** Functions of results. For any other value they return false or the value itself. */
export const RESULT_FUNCTIONS: ReadonlySet<string> = new Set(['is_ok', 'is_err', 'unwrap', 'unwrap_or', 'unwrap_err'])
export const NO_RESULT: ReadonlySet<string> = new Set([
  ...['string', 'int', 'float', 'bool', 'list', 'dict', 'struct', 'set', 'range', 'duration', 'closure', 'builtin', 'bytes'],
])

/** Kinds for which the results of operators are known. */
export const OPERANDS: ReadonlySet<string> = new Set([
  ...['int', 'float', 'string', 'bool', 'nil', 'list', 'dict', 'struct', 'set', 'range', 'duration', 'closure', 'builtin'],
  ...['task_handle', 'channel'],
])

/** Methods that dicts have in other languages. */
export const DICT_HABITS: ReadonlySet<string> = new Set([
  ...[
    'set',
    'put',
    'insert',
    'update',
    'setdefault',
    'items',
    'iteritems',
    'containsKey',
    'contains_key',
    'has_key',
    'hasOwnProperty',
  ],
  ...['getOrDefault', 'get_or_default', 'forEach', 'for_each', 'each', 'delete', 'pop', 'clear', 'is_empty', 'isEmpty'],
])
