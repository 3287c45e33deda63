export interface WantedUnits {
  customerId: string;
  month: string;
  /** On which the calls begin, and by whose terms they are priced. */
  day: string;
  units: number;
}

export interface GrantedUnits {
  customerId: string;
  month: string;
  granted: number;
  /** Kept and reserved calls of the month, after this grant. */
  used: number;
  /** Null where the plan has no end. */
  stopAt: number | null;
  /** Nothing was granted, because nobody knows yet what the spend cap has to pay for today. */
  isUnreckoned: boolean;
}

export interface SettledUnits {
  customerId: string;
  month: string;
  holder: string;
  kept: number;
  returned: number;
}

/** What is counted together, in one transaction. */
export interface SettledBatch {
  /** Who counts, and which of its batches this is: numbers rise by one, and each is counted at most once. */
  meter: string;
  number: number;
  settled: readonly SettledUnits[];
  usage: readonly UsageCount[];
}

export interface UsageCount {
  customerId: string;
  day: string;
  platform: string;
  tool: string;
  durationClass: number;
  calls: number;
  errors: number;
  /** Of these calls, those whose unit was given back. */
  givenBack: number;
}
