/** A list file that was refused; the message says why. */
export class ListRefusedError extends Error {
  override readonly name = "ListRefusedError";
}
