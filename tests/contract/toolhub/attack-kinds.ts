/** What hostile callers do; `attackers.ts` does it. */
export const ATTACKS = [
  'many_values',
  'deep',
  'one_long_text',
  'escapes',
  'escapes_between_letters',
  'medium_texts',
  'one_long_number',
  'one_long_key',
  'faults_below_a_long_key',
  'keys_that_grow',
  'mail_of_escapes',
  'mail_of_escapes_by_the_library',
  'authorize',
  'register',
  'forms',
  'webhook_tests',
] as const;

export type AttackKind = (typeof ATTACKS)[number];
