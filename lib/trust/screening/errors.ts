export class ListRefusedError extends Error {
  override readonly name = "ListRefusedError";
}
