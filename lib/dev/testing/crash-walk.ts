import { setTimeout as sleep } from "node:timers/promises";
import { pointKind, type PointKind } from "./point-kind";
import { startLife, type LifeOptions, type Point } from "./worker-life";

export interface CrashWalkOptions {
  readonly life: Omit<LifeOptions, "dieAt">;
  /** Number of kills at random points, after every goal was met. */
  readonly randomKills: number;
  /**
   * After this time no further life begins, provided that there were `killsMin` kills. By default
   * the walk ends only when it is complete, within the test's time-out.
   */
  readonly budgetMs?: number;
  /** Number of kills before which `budgetMs` does not end the walk. Default: 0. */
  readonly killsMin?: number;
  /**
   * The goals of a sample: a worker is killed at least once at a point of each of these kinds
   * (`pointKind`). By default the goals are all points that the survey and the walk find.
   */
  readonly kinds?: readonly PointKind[];
  /** Seeded random numbers in [0, 1). */
  readonly random: () => number;
  /** Called after each kill, before the next worker begins. */
  readonly onDeath: (pid: number) => Promise<void>;
}

export interface CrashWalk {
  /**
   * Kills a worker at the next point of this name (stage and label). Use it for points that occur
   * only once in an installation, because the survey would pass such a point and the walk would
   * never meet it again.
   */
  killAt(name: string): Promise<void>;
  /**
   * Runs a worker without kills until `done`, to find the points at which it can be killed. A
   * sample needs no survey.
   */
  survey(done: () => Promise<void>): Promise<void>;
  /**
   * Walks until every goal was met and the random kills are done (returns true), or the budget is
   * used up (false).
   */
  run(): Promise<boolean>;
  /** How often a worker was killed at each point. */
  readonly kills: ReadonlyMap<string, number>;
  /** How often a worker was killed at points of each kind. */
  killsByKind(): ReadonlyMap<PointKind, number>;
  /** Goals at which no worker was killed. */
  missed(): string[];
}

const pointName = ({ stage, label }: Point): string => `${stage} ${label}`;

const count = <Key>(counts: Map<Key, number>, key: Key): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1);
};

const total = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((sum, each) => sum + each, 0);

/**
 * A life is the work of one worker process until it is killed. It passes up to this many points
 * before it looks for an open goal, because otherwise all lives would end at their first point.
 */
const HEAD_START_MAX = 12;
/** A life that meets no new goal within this many points is killed at its current point. */
const POINTS_MAX = 400;
/** A life that meets no new goal within this time is killed at its current point. */
const PATIENCE_MS = 20_000;
/**
 * After this many lives without a new goal the remaining goals are given up; `missed` returns them.
 */
const VAIN_MAX = 12;
const RANDOM_POINTS_MAX = 150;

/** When to kill a life: at the first new point from `from` on, or at point `at` in any case. */
interface Plan {
  readonly from: number;
  readonly at: number;
}

/**
 * Kills workers at points of their work, one kill for each worker. Only one worker runs at a time,
 * because with two workers the first would take all the work. The next worker process is loaded in
 * the meantime.
 */
export const createCrashWalk = (options: CrashWalkOptions): CrashWalk => {
  const { random } = options;
  /** Names of known points, or kinds of points in a sample. */
  const known = new Set<string>(options.kinds);
  /** Goals that every life passes: those of the survey, or all kinds in a sample. */
  const common = new Set<string>(options.kinds);
  const kills = new Map<string, number>();
  const kindKills = new Map<PointKind, number>();
  const met = new Set<string>();
  const goalOf = (point: Point): string =>
    options.kinds === undefined ? pointName(point) : pointKind(point);
  let deadline = Infinity;
  let randomKills = 0;
  let vain = 0;

  const missed = (): string[] => [...known].filter((goal) => !met.has(goal));

  const nextPlan = (): Plan | null => {
    if (Date.now() >= deadline && total(kills) >= (options.killsMin ?? 0)) return null;
    if (missed().length > 0 && vain < VAIN_MAX)
      return { from: Math.floor(random() * HEAD_START_MAX), at: POINTS_MAX };
    if (randomKills >= options.randomKills) return null;
    randomKills += 1;
    return { from: Infinity, at: 1 + Math.floor(random() * RANDOM_POINTS_MAX) };
  };

  /** Loads a worker in advance. The point of its kill is planned only when it starts to work. */
  const load = async () => {
    const own = { plan: null as Plan | null, points: 0, since: 0, isVain: false };
    const dieAt = (point: Point): boolean => {
      const goal = goalOf(point);
      if (options.kinds === undefined) known.add(goal);
      const { plan } = own;
      if (plan === null) return false;
      own.points += 1;
      // A point that occurs only after a crash may never occur again, so the worker is killed there
      // the first time.
      const isNew =
        known.has(goal) && !met.has(goal) && (own.points > plan.from || !common.has(goal));
      own.isVain = plan.from !== Infinity && !isNew;
      if (!isNew && own.points < plan.at && Date.now() - own.since < PATIENCE_MS) return false;
      met.add(goal);
      count(kills, pointName(point));
      count(kindKills, pointKind(point));
      return true;
    };
    return { own, life: await startLife({ ...options.life, dieAt }) };
  };

  const live = async (): Promise<void> => {
    let standby = load();
    for (;;) {
      const { own, life } = await standby;
      const plan = nextPlan();
      if (plan === null) {
        life.kill();
        await life.ended;
        return;
      }
      standby = load();
      [own.plan, own.since] = [plan, Date.now()];
      await life.begin();
      await Promise.race([life.ended, sleep(2 * PATIENCE_MS)]);
      life.kill();
      await life.ended;
      if (own.isVain) vain += 1;
      await options.onDeath(life.pid);
    }
  };

  const killAt = async (name: string): Promise<void> => {
    const dieAt = (point: Point): boolean => {
      if (pointName(point) !== name) return false;
      met.add(goalOf(point));
      count(kills, name);
      count(kindKills, pointKind(point));
      return true;
    };
    const life = await startLife({ ...options.life, dieAt });
    await life.begin();
    await life.ended;
    await options.onDeath(life.pid);
  };

  return {
    killAt,
    survey: async (done) => {
      const { life } = await load();
      await life.begin();
      await done();
      life.kill();
      await life.ended;
      await options.onDeath(life.pid);
      for (const point of known) common.add(point);
    },
    run: async () => {
      deadline = Date.now() + (options.budgetMs ?? Infinity);
      await live();
      return Date.now() < deadline;
    },
    kills,
    killsByKind: () => kindKills,
    missed,
  };
};
