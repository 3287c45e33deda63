/** Where payments are created; the keys of requests belong to it. */
export const ACCEPT_PATH = '/v1/payments';
