/** A file that is not imported; the message says why. */
export class ListRefusedError extends Error {
  override readonly name = "ListRefusedError";
}
