import { BlockList, isIP } from "node:net";

const IPV4_MAPPED = /^::ffff:(?=\d+\.)/i;

/**
 * Returns a function that tells whether an IP address is in one of the networks. An IPv4-mapped
 * IPv6 address counts as the IPv4 address.
 * @param networks results of `plainNetwork`
 */
export const networkMatcher = (networks: readonly string[]): ((address: string) => boolean) => {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", prefix] = network.split("/");
    list.addSubnet(address, Number(prefix), isIP(address) === 6 ? "ipv6" : "ipv4");
  }
  return (address) => {
    const plain = address.replace(IPV4_MAPPED, "");
    const version = isIP(plain);
    return version !== 0 && list.check(plain, version === 6 ? "ipv6" : "ipv4");
  };
};
