// List methods that call a function for every element, as loops in the text of the unit that calls them: the call of the function is
// then a site of its own that V8 can inline. KEEP WITH: builtins/lists-callbacks.ts, whose frame each of these becomes when the
// function leaves: the state is the same object. Fuel: one unit a step and one a call, as the native frame takes them.

interface Row {
  /** Arguments of the call; `x` is the element. */
  readonly args: string
  readonly count: number
  /** What is done with the answer `v` for the element at `at`; `return` ends the loop. */
  readonly visit: string
  readonly end: string
}

const FOUND = (test: string, value: string): string => `if(${test}){m.deepest=top;return ${value}}`

const ROWS: Readonly<Record<string, Row>> = {
  map: { args: 'x', count: 1, visit: 'out.push(v);m.chargeHeap(16);', end: 'new List(out)' },
  filter: {
    args: 'x',
    count: 1,
    visit: 'if(v===true||(v!==false&&isTruthy(v))){out.push(x);m.chargeHeap(16)}',
    end: 'new List(out)',
  },
  reduce: { args: 'acc,x', count: 2, visit: 'acc=v;', end: 'acc' },
  find: { args: 'x', count: 1, visit: FOUND('isTruthy(v)', 'x'), end: 'null' },
  find_index: { args: 'x', count: 1, visit: FOUND('isTruthy(v)', 'at'), end: '-1' },
  any: { args: 'x', count: 1, visit: FOUND('isTruthy(v)', 'true'), end: 'false' },
  all: { args: 'x', count: 1, visit: FOUND('!isTruthy(v)', 'false'), end: 'true' },
  none: { args: 'x', count: 1, visit: FOUND('isTruthy(v)', 'false'), end: 'true' },
}

/** Method name → row. */
const METHODS: Readonly<Record<string, string>> = {
  map: 'map',
  filter: 'filter',
  reduce: 'reduce',
  find: 'find',
  find_index: 'find_index',
  any: 'any',
  all: 'all',
  every: 'all',
  none: 'none',
}

/** The frame that a list method goes on as and that has a loop here, undefined for every other method. */
export function loopFrameOf(method: string): string | undefined {
  return Object.hasOwn(METHODS, method) ? `list.${METHODS[method]!}` : undefined
}

/**
 * A function `name(m, d)` that carries out what the builtin just asked for, called at depth `d`. It answers the method's value,
 * undefined as calls do, or CONTROL with nothing done when the base tier has to.
 */
export function loopText(name: string, frame: string): string {
  const { args, count, visit, end } = ROWS[frame.slice('list.'.length)]!
  return (
    `function ${name}(m,d){const s=m.context.action.state,fn=s.fn,list=s.list,out=s.out;` +
    `if(!(fn instanceof Closure)||fn.code.jitCount!==${count}||d+2>=m.floor||d>=m.limits.frames)return CONTROL;` +
    'm.context.action=null;const top=m.deepest;m.deepest=d+2+RUN>m.floor?m.floor:d+2+RUN;' +
    // Nobody assigns to a list that a builtin was given, and what is appended to it lies behind its end.
    'const items=list.items,size=list.length;let at=-1,v=null,x=null,w,acc=s.acc;for(;;){' +
    `if(--m.fuel<0){m.fuel++;m.deepest=top;return native(m,${JSON.stringify(frame)},s,at,acc,v)}` +
    `if(at>=0){${visit}}` +
    `at++;if(at>=size){m.deepest=top;return ${end}}` +
    `x=items[at];if(m.fuel>0)m.fuel--;else m.charge(1);` +
    `w=fn.code.jit(m,fn,d+2,${args});` +
    `if(w===undefined){m.deepest=top;if(m.raised!==null){leaveRun(m);return}return native(m,${JSON.stringify(frame)},s,at,acc,v)}` +
    'v=w}}'
  )
}
