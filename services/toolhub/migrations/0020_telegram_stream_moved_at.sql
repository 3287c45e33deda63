-- When the position in a bot's stream last moved: the platform numbers anew after a week of silence.
alter table telegram_bots add column moved_at timestamptz;
