#pragma once

#include <string_view>

namespace hpcboot::redaction {

/// Which arguments of a program are secrets.
enum class Takes {
  glued,     ///< "-px"; "-p x" asks for the password, and x is something else
  argument,  ///< "-p x", "-px", "-p=x"
  cluster,   ///< as argument, and after other options in one word: "-rp x"
  words,     ///< all words that are not options, after the word `flag` if it is not empty; x* is
             ///< each word that begins with x
};

struct SecretArgument {
  std::string_view programs;  ///< with spaces around them
  std::string_view flag;
  Takes takes;
};

inline constexpr SecretArgument kSecretArguments[] = {
    {" mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mysqlslap mysqlpump mysqlsh "
     "mycli ",
     "-p", Takes::glued},
    {" mariadb mariadb-dump mariadb-admin 7z 7za 7zr 7zz rar unrar ", "-p", Takes::glued},
    {" rar unrar ", "-hp", Takes::glued},
    {" sshpass mongo mongosh mongodump mongorestore cqlsh twine useradd usermod rdesktop ", "-p",
     Takes::argument},
    {" condor_store_cred ", "-p", Takes::argument},
    {" zip unzip ", "-P", Takes::cluster},
    {" ipmitool sqlcmd bcp mosquitto_pub mosquitto_sub ssh-keygen ", "-P", Takes::argument},
    {" ssh-keygen ", "-N", Takes::argument},
    {" ldapsearch ldapadd ldapmodify ldapdelete ldappasswd ldapwhoami ", "-w", Takes::argument},
    {" redis-cli http https xh xhs ", "-a", Takes::argument},
    {" redis-cli ", "AUTH", Takes::words},
    {" snmpget snmpwalk snmpbulkwalk snmpset ", "-A", Takes::argument},
    {" snmpget snmpwalk snmpbulkwalk snmpset ", "-X", Takes::argument},
    {" snmpget snmpwalk snmpbulkwalk snmpset ", "-c", Takes::argument},  // the community
    {" openssl ", "-k", Takes::argument},
    {" openssl ", "-K", Takes::argument},
    {" openssl ", "-hmac", Takes::argument},
    {" lftp smbclient ", "-u", Takes::argument},
    {" smbclient rpcclient net ", "-U", Takes::argument},  // user%password
    {" influx ", "-t", Takes::argument},
    {" rabbitmqctl ", "add_user", Takes::words},
    {" rabbitmqctl ", "change_password", Takes::words},
    {" xfreerdp wlfreerdp ", "/p:", Takes::glued},
    {" wandb vault comet neptune clearml cargo modal replicate dagshub hf huggingface-cli ngc ",
     "login", Takes::words},
    {" nmcli ", "password", Takes::argument},
    {" poetry ", "http-basic.*", Takes::words},
    {" net ", R"(\\*)", Takes::words},  // net use x: \\host\share password
    {" snyk doctl ", "auth", Takes::words},
    {" ngrok ", "authtoken", Takes::words},
    {" mc mcli ", "set", Takes::words},
    {" b2 ", "authorize-account", Takes::words},
    {" rclone ", "obscure", Takes::words},
    {" sqlplus htpasswd oathtool wpa_passphrase ConvertTo-SecureString ", "", Takes::words},
};

}  // namespace hpcboot::redaction
