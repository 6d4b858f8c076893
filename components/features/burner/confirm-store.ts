/**
 * A request to the burner wallet for a signature or a transaction, in a form that a person can
 * read.
 */
export interface BurnerRequest {
  readonly title: string;
  readonly account: string;
  readonly chainId: number | null;
  /** The complete content to sign, as readable text. */
  readonly text: string;
}

interface Pending extends BurnerRequest {
  readonly answer: (agreed: boolean) => void;
}

let queue: readonly Pending[] = [];
const listeners = new Set<() => void>();

const change = (next: readonly Pending[]): void => {
  queue = next;
  for (const listener of listeners) listener();
};

/**
 * Resolves with the person's answer. Requests are shown one at a time, in the order of the calls.
 */
export const askPerson = (request: BurnerRequest): Promise<boolean> =>
  new Promise((resolve) => {
    const pending: Pending = {
      ...request,
      answer: (agreed) => {
        change(queue.filter((other) => other !== pending));
        resolve(agreed);
      },
    };
    change([...queue, pending]);
  });

export const subscribeToRequests = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const currentRequest = (): Pending | null => queue[0] ?? null;
