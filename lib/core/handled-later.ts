/** Prevents a promise that is awaited later from counting as an unhandled rejection until then. */
export const handledLater = <T>(promise: Promise<T>): Promise<T> => {
  promise.catch(() => undefined);
  return promise;
};
