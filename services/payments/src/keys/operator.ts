/** Who works as the operator, as it is kept with what was done. */
export const OPERATOR_BY_TOKEN = 'admin_token';
