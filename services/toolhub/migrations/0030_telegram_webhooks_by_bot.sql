-- Whoever takes a bot's address back at the platform looks for others who are connected by the same bot.
create index telegram_webhooks_by_bot on telegram_webhooks (bot_id) where customer_id is not null;
