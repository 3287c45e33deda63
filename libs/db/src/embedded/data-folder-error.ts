/** Something about the data folder keeps the embedded server from running; the message is one line. */
export class DataFolderError extends Error {
  override readonly name = 'DataFolderError';
}
