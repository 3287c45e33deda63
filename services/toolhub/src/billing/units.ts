export interface WantedUnits {
  customerId: string;
  month: string;
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
}

export interface SettledUnits {
  customerId: string;
  month: string;
  holder: string;
  kept: number;
  returned: number;
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
