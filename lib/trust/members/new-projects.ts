import type { UserActor } from "@/lib/core/actor";
import { DomainError } from "@/lib/core/errors";
import type { Database } from "@/lib/platform/db/client";
import type { ProjectsService } from "@/lib/trust/projects/service";
import type { WalletsService } from "@/lib/trust/wallets/service";

export interface NewProjects {
  /**
   * Creates a project with the person as its owner, and its treasury.
   * @throws DomainError `invalid_state` for a person with 100 projects
   */
  create(
    actor: UserActor,
    name: string,
  ): Promise<{ readonly id: string; readonly name: string }>;
}

interface NewProjectsDeps {
  readonly database: Database;
  readonly projects: Pick<ProjectsService, "create" | "list" | "forget">;
  readonly wallets: Pick<WalletsService, "createTreasury">;
}

const PROJECTS_MAX = 100;

export const createNewProjects = ({
  database,
  projects,
  wallets,
}: NewProjectsDeps): NewProjects => ({
  create: async ({ userId, request = null }, name) => {
    // Two concurrent requests may exceed the maximum by one. That does no harm, because the limit
    // only keeps lists short.
    if ((await projects.list(userId)).length >= PROJECTS_MAX)
      throw new DomainError(
        "invalid_state",
        `You belong to ${String(PROJECTS_MAX)} projects, which is the most.`,
      );
    const { projectId } = await database.transaction((tx) =>
      projects.create(tx, { name, ownerId: userId, request }),
    );
    projects.forget(userId);
    // If the process crashes before this line, the person's next sign-in creates the treasury.
    await wallets.createTreasury(projectId);
    return { id: projectId, name };
  },
});
