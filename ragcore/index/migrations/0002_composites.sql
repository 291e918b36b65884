-- Chunks beside the tiling: the rows of one table together.

ALTER TABLE chunks ADD COLUMN first_tile INTEGER;               -- composite: the tiles that it spans; NULL for a tile
ALTER TABLE chunks ADD COLUMN last_tile INTEGER;
ALTER TABLE chunks ADD COLUMN grid TEXT NOT NULL DEFAULT '';    -- composite: its rows in short form, which is indexed
