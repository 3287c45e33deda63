/** Where the rails write what a person has to see; the service's logger is one. */
export interface RailLog {
  /** An alert: someone has to look. */
  error(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
