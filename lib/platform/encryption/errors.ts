export class UnknownKeyError extends Error {
  constructor(readonly kekId: string) {
    super(
      `The key-encryption key ${kekId} is not configured. Add it to KEY_ENCRYPTION_KEY_PREVIOUS.`,
    );
    this.name = "UnknownKeyError";
  }
}

/** No configured key decrypts the bytes: the key or the context differs, or a bit was changed. */
export class UnreadableError extends Error {
  constructor(kekId: string) {
    super(`The bytes cannot be decrypted with key-encryption key ${kekId}.`);
    this.name = "UnreadableError";
  }
}

/** The database needs keys that are not configured, so the process must not start. */
export class MissingKeysError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(
      `${problems.join("\n")}\nPut the missing key into KEY_ENCRYPTION_KEY_PREVIOUS, and run \`npm run keys:rotate\` before you remove it.`,
    );
    this.name = "MissingKeysError";
  }
}
