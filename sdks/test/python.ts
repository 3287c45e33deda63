import { spawnSync } from 'node:child_process';

/** Without one, its tests cannot run; `npm test` installs it where it may, and says so where it may not. */
export const hasPython = spawnSync('python3', ['-m', 'pip', '--version'], { stdio: 'ignore' }).status === 0;
