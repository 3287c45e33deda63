/** Of the package; a test compares it with package.json. */
export const VERSION = '0.1.0';
/** The dated version of the API that these types describe. It is sent with every request. */
export const API_VERSION = '2026-11-15';
