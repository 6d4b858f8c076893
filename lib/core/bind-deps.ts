/**
 * Gives a function its first argument, the dependencies. A service's factory lists its functions with it.
 * @example
 * export const createRatesService = (deps: RatesDeps) => ({ rateOf: bindDeps(deps, rateOf) });
 */
export const bindDeps =
  <Deps, Args extends readonly unknown[], Result>(deps: Deps, work: (deps: Deps, ...args: Args) => Result) =>
  (...args: Args): Result =>
    work(deps, ...args);
