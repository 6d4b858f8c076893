import type { Actor } from "./actor";
import { requirePermission, type Permission } from "./permissions";

type IsActor<A> = [A] extends [never] ? false : [A] extends [Actor] ? true : false;

/** The functions of a service whose first argument is the caller. */
type CallerFunctions<S> = {
  [K in keyof S]: S[K] extends (...inputs: infer Inputs) => unknown
    ? Inputs extends [infer First, ...unknown[]]
      ? IsActor<First> extends true
        ? K
        : never
      : never
    : never;
}[keyof S];

/** The permission for each function that a caller uses; null where it reads, or checks the permission itself. */
export type Needs<S> = Readonly<Record<CallerFunctions<S>, Permission | null>>;

/**
 * Returns the service with a check of the caller's role before each function that needs a permission, whoever calls it: a route, a job
 * or another service. The table must name every function that takes a caller first, so a new one does not compile without a decision.
 * A guarded function must be asynchronous: a refusal is a rejected promise.
 * @example const swaps = permissionGuard(createSwapsService(deps), { execute: "money:move", show: null });
 */
export const permissionGuard = <S extends object>(service: S, needs: Needs<S>): S => {
  const guarded = Object.entries(needs as Record<string, Permission | null>).flatMap(([name, permission]) => {
    const work = service[name as keyof S] as (...inputs: unknown[]) => unknown;
    if (permission === null) return [];
    const checked = async (actor: Actor, ...rest: unknown[]): Promise<unknown> => {
      requirePermission(actor, permission);
      return await Reflect.apply(work, service, [actor, ...rest]);
    };
    return [[name, checked]];
  });
  return { ...service, ...(Object.fromEntries(guarded) as Partial<S>) };
};
