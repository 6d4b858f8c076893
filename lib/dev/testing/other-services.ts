import { createServices, setServices, type Services } from "@/lib/composition";
import type { ChainRegistry } from "@/lib/chain/registry";
import { afterFile } from "./after-file";

/**
 * The services of an instance with the same secrets on another database. `getServices()` returns
 * them from now on. Closed after the file.
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
