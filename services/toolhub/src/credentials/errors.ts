import { defineErrors, type ErrorDefinitions } from '@libs/http';

export const credentialErrorDefinitions = {
  credential_rejected: {
    kind: 'refused',
    title: 'Credential rejected',
    detail: 'The platform does not accept this credential.',
    help: 'The credential was tried at the platform and refused; nothing was stored. Check it, or store it unchecked with verify=false.',
  },
  platform_unreachable: {
    kind: 'refused',
    title: 'Platform unreachable',
    detail: 'The credential could not be checked, because the platform did not answer.',
    help: 'Nothing was stored. Check the address, try again later, or store the credential unchecked with verify=false.',
  },
  address_refused: {
    kind: 'refused',
    title: 'Address refused',
    detail: 'This address is not one that the service connects to.',
    help: 'Private, local and reserved addresses are refused unless the operator allows them.',
  },
} as const satisfies ErrorDefinitions;

export const credentialErrors = defineErrors(credentialErrorDefinitions);
