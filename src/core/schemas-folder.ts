// Where the schemas of plans and of the store are: the same place from the sources, the build and the bundle.

/** The folder `schemas/` of the package. */
export const SCHEMAS = new URL('../../schemas/', import.meta.url);
