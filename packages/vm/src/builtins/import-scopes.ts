// Field of a task: keys of modules with ceilings that everything in it works for (interpreter/place.ts).

export const IMPORT_SCOPES = 'policy.imports'
