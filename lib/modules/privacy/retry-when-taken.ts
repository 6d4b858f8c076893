import { TakenError } from "./errors";

const TRIES_MAX = 5;

/** Does the work again with fresh reads while other operations are quicker. @throws TakenError after `TRIES_MAX` tries */
export const retryWhenTaken = async <T>(work: () => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TakenError) || tries === TRIES_MAX) throw error;
    }
  }
};
