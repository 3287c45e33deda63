/** A payment was returned after it had completed: what gives it back and has not left must not leave any more, or its source would be paid twice. */
export const STOP_REFUNDS_JOB = 'payments.stop_refunds';
