-- The table of moves is checked by the trigger's condition, which Postgres evaluates in passing; the function is called
-- only to refuse. As a call for every row it was a measurable part of completing a payment.
drop trigger payments_move on payments;
create trigger payments_move before update of status on payments
  for each row when (old.status is distinct from new.status and not ({{payment_moves}}))
  execute function check_payment_move();
