/** A file as a listing shows it. Its time is by the server's clock, which may show another time than ours. */
export interface SeenFile {
  name: string;
  size: number;
  modifyTime: number;
}

/** When a listing was made, by our clock: somewhere between its beginning and its end. */
export interface ListingTimes {
  begun: number;
  ended: number;
}

interface Sighting extends Pick<SeenFile, 'size' | 'modifyTime'> {
  /** By our clock: it has been like this at least since then. */
  since: number;
}

/**
 * How long files have lain as they are, by what was seen of them and by our clock alone. The server's clock cannot tell: where it is
 * behind, a file that grows at this moment seems to have been left long ago, and where it is ahead, none ever seems to rest.
 */
export class Stillness {
  #sightings: ReadonlyMap<string, Sighting> = new Map();
  #begun = 0;

  note(files: readonly SeenFile[], { begun, ended }: ListingTimes): void {
    this.#begun = begun;
    this.#sightings = new Map(files.map((file) => [file.name, this.#sightingOf(file, ended)]));
  }

  /** For how many milliseconds a file of the last listing has certainly been like that. */
  stillFor(name: string): number {
    const sighting = this.#sightings.get(name);
    return sighting ? this.#begun - sighting.since : 0;
  }

  #sightingOf({ name, size, modifyTime }: SeenFile, ended: number): Sighting {
    const earlier = this.#sightings.get(name);
    const isSame = earlier?.size === size && earlier.modifyTime === modifyTime;
    return isSame ? earlier : { size, modifyTime, since: ended };
  }
}
