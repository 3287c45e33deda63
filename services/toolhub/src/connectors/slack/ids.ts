import { vendorId } from '../vendor-api/tool-schemas.ts';

export const channel = vendorId(
  'Id of the channel or conversation, for example C0123456789.',
  '^[CDG][A-Z0-9]{2,30}$',
);
