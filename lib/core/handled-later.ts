/**
 * Marks a promise that is awaited later, since until then its rejection would count as unhandled.
 */
export const handledLater = <T>(promise: Promise<T>): Promise<T> => {
  promise.catch(() => undefined);
  return promise;
};
