/** A function that ends something that the test file started. */
type Stop = () => unknown;

const stops: Stop[] = [];

/**
 * Runs `stop` after the last test of the file, in reverse order of the calls. This function can be
 * called at any time, unlike vitest's `afterAll`, which ignores hooks that are registered while a
 * test or a `beforeAll` runs.
 */
export const afterFile = (stop: Stop): void => void stops.push(stop);

/**
 * Runs all stops of `afterFile`; `setup.ts` calls it after each test file. Every stop runs, even
 * after one that failed.
 * @throws the first failure
 */
export const endFile = async (): Promise<void> => {
  const failures: unknown[] = [];
  for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) {
    try {
      await stop();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
};
