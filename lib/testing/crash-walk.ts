import { setTimeout as sleep } from "node:timers/promises";
import { startLife, type LifeOptions, type Point } from "./worker-life";

export interface CrashWalkOptions {
  readonly life: Omit<LifeOptions, "dieAt">;
  /** Kills at a random point of a worker's life, after every point was met. */
  readonly randomKills: number;
  readonly budgetMs: number;
  /** In [0, 1), of the seed. */
  readonly random: () => number;
  /** Called after each death, before the next worker begins. */
  readonly onDeath: (pid: number) => Promise<void>;
}

export interface CrashWalk {
  /** A worker that nobody kills works until `done`, so that its points become known. */
  survey(done: () => Promise<void>): Promise<void>;
  /** Walks until every point was met and the random kills are done (true), or the budget is spent (false). */
  run(): Promise<boolean>;
  /** How often a worker was killed at each point. */
  readonly kills: ReadonlyMap<string, number>;
  /** Points that were seen, and at which no worker was killed. */
  missed(): string[];
}

const key = ({ stage, label }: Point): string => `${stage} ${label}`;

/** So many points a life passes before it begins to look for one that was not met: else all would die at their first. */
const HEAD_START_MAX = 12;
/** A life that finds nothing new in so many points or so much time dies where it is. */
const POINTS_MAX = 400;
const PATIENCE_MS = 20_000;
/** Lives that find nothing new, after which the points that are left are given up. */
const VAIN_MAX = 12;
const RANDOM_POINTS_MAX = 150;

/** When a life ends: at the first new point from `from` on, or at point `at` whatever it is. */
interface Plan {
  readonly from: number;
  readonly at: number;
}

/**
 * Kills workers at every point of their work, one point per life, while they work on whatever there is to do. One lives at a time,
 * and the next is loaded meanwhile: of two the first would take all the work.
 */
export const createCrashWalk = (options: CrashWalkOptions): CrashWalk => {
  const { random } = options;
  const known = new Set<string>();
  /** Those of the survey, which every life comes by. */
  const common = new Set<string>();
  const kills = new Map<string, number>();
  let deadline = 0;
  let randomKills = 0;
  let vain = 0;

  const missed = (): string[] => [...known].filter((point) => !kills.has(point));

  const nextPlan = (): Plan | null => {
    if (Date.now() >= deadline) return null;
    if (missed().length > 0 && vain < VAIN_MAX) return { from: Math.floor(random() * HEAD_START_MAX), at: POINTS_MAX };
    if (randomKills >= options.randomKills) return null;
    randomKills += 1;
    return { from: Infinity, at: 1 + Math.floor(random() * RANDOM_POINTS_MAX) };
  };

  /** A life that is loaded and waits. Its plan is made when it begins. */
  const load = async () => {
    const own = { plan: null as Plan | null, points: 0, since: 0, isVain: false };
    const dieAt = (point: Point): boolean => {
      known.add(key(point));
      const { plan } = own;
      if (plan === null) return false;
      own.points += 1;
      // What only a crash leads to may never come up again, so it is taken at once.
      const isNew = !kills.has(key(point)) && (own.points > plan.from || !common.has(key(point)));
      own.isVain = plan.from !== Infinity && !isNew;
      if (!isNew && own.points < plan.at && Date.now() - own.since < PATIENCE_MS) return false;
      kills.set(key(point), (kills.get(key(point)) ?? 0) + 1);
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

  return {
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
      deadline = Date.now() + options.budgetMs;
      await live();
      return Date.now() < deadline;
    },
    kills,
    missed,
  };
};
