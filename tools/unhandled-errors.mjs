// A reporter of Vitest: how many errors were nobody's, which its JSON does not tell.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

// biome-ignore lint/style/noDefaultExport: Vitest takes the default export of a reporter.
export default class UnhandledErrors {
  onInit(vitest) {
    this.folder = dirname(vitest.config.outputFile.json);
  }

  onTestRunEnd(_modules, errors) {
    writeFileSync(join(this.folder, 'unhandled.json'), JSON.stringify(errors.length));
  }
}
