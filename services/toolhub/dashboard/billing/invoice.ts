export interface Plan {
  id: string;
  name: string;
  price_cents: number;
  included_calls: number;
  overage_cents_per_1000: number;
  hard_stop: boolean;
}

export interface Invoice {
  id: string;
  number: string;
  period: string;
  status: string;
  currency: string;
  total_cents: number;
  issued_at: string;
}
