-- The key that took over from one that was rolled. Until the overlap ends both work, and the end of the first is that of the
-- overlap: rolled a second time, it would hand that end on to a successor which was made to stay.
alter table api_keys add column replaced_by text collate "C";
