import { createServices, setServices, type Services } from "@/lib/composition";
import type { ChainRegistry } from "@/lib/chain/registry";
import { afterFile } from "./after-file";

/**
 * Creates the services of another instance, with the same secrets and another database.
 * `getServices()` returns them from now on. They are closed after the test file.
 */
export const otherServices = (
  { config }: Services,
  databaseUrl: string,
  registry: ChainRegistry,
): Services => {
  const services = createServices(
    { ...config, databaseUrl, listenUrl: databaseUrl },
    { registry },
  );
  setServices(services);
  afterFile(() => services.close());
  return services;
};
