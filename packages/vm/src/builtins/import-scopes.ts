// Field of a task: keys of the modules with ceilings on whose behalf it runs (interpreter/place.ts).

export const IMPORT_SCOPES = 'policy.imports'
