export { ROTATION_FAILURES, runRotation } from './command.ts';
export { createRotationJob, type RotationJob } from './job.ts';
export { describeTally, type RotationTally, resealEverything } from './rotation.ts';
export { type SealedColumn, sealedColumn } from './sealed-column.ts';
export { checkStoredKeys, describeMissingKeys, describeUnseenKeys } from './stored-keys.ts';
