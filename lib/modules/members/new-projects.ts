import type { UserActor } from "@/lib/core/actor";
import { DomainError } from "@/lib/core/errors";
import type { Database } from "@/lib/db/client";
import type { ProjectsService } from "@/lib/modules/projects/service";
import type { WalletsService } from "@/lib/modules/wallets/service";

export interface NewProjects {
  /**
   * Makes a project with the person as its owner, and its treasury.
   * @throws DomainError `invalid_state` for a person of 100 projects
   */
  create(actor: UserActor, name: string): Promise<{ readonly id: string; readonly name: string }>;
}

interface NewProjectsDeps {
  readonly database: Database;
  readonly projects: Pick<ProjectsService, "create" | "list" | "forget">;
  readonly wallets: Pick<WalletsService, "createTreasury">;
}

const PROJECTS_MAX = 100;

export const createNewProjects = ({ database, projects, wallets }: NewProjectsDeps): NewProjects => ({
  create: async ({ userId, request = null }, name) => {
    // Two at once may both be the last one: the bound keeps lists short, and one more does no harm.
    if ((await projects.list(userId)).length >= PROJECTS_MAX)
      throw new DomainError("invalid_state", `You belong to ${String(PROJECTS_MAX)} projects, which is the most.`);
    const { projectId } = await database.transaction((tx) => projects.create(tx, { name, ownerId: userId, request }));
    projects.forget(userId);
    // After a crash before this line the person's next sign-in makes it.
    await wallets.createTreasury(projectId);
    return { id: projectId, name };
  },
});
