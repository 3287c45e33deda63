import { vendorId } from '../vendor-api/tool-schemas.ts';

export const SNOWFLAKE = '^[0-9]{15,20}$';
export const snowflake = (description: string) => vendorId(description, SNOWFLAKE);
export const channelId = snowflake('Id of the channel or thread.');
