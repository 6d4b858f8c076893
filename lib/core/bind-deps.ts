/**
 * Binds the first argument of a function, its dependencies. The factory of a service uses it to
 * bind each of the service's functions.
 * @example
 * export const createRatesService = (deps: RatesDeps) => ({ rateOf: bindDeps(deps, rateOf) });
 */
export const bindDeps =
  <Deps, Args extends readonly unknown[], Result>(
    deps: Deps,
    work: (deps: Deps, ...args: Args) => Result,
  ) =>
  (...args: Args): Result =>
    work(deps, ...args);
