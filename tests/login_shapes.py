"""Secrets in commands and functions that log in, or keep a login; {} marks the secret."""

from __future__ import annotations

#: One a line, each as in the documentation of its program.
LOGINS = r"""
wandb login {}
wandb login --relogin {}
wandb login --host=https://w.example.com {}
python -c "import wandb; wandb.login(key='{}')"
python -c "import wandb; wandb.login('{}')"
python -c "from huggingface_hub import login; login('{}')"
python -c "login(token='{}', add_to_git_credential=True)"
ngc config set --key {}
ngc config set --org o --key={}
rclone config create r s3 access_key_id A secret_access_key {}
rclone config create r sftp host h user u pass {}
rclone lsd r: --s3-secret-access-key {}
rclone obscure {}
mc alias set h https://m.example.com u {}
mc config host add h https://m.example.com u {}
python get.py --cookie 'session={}'
python get.py --cookie session={}
yt-dlp --add-header 'Cookie: a={}' u
MY_CREDS={} python train.py
CREDS={} python train.py
python train.py --cred={}
python train.py --creds {}
python train.py --cred me:{}
python train.py --pw={}
python train.py --pw {}
DB_PW={} python train.py
hf auth login --token {}
hf auth login --token={} --add-to-git-credential
az acr login -n r -u u -p {}
az storage blob list --account-key {}
az storage blob list --sas-token '{}'
az storage blob list --connection-string {}
kaggle config set -n key -v {}
kaggle config set --name key --value {}
comet login --api-key {}
python -c "comet_ml.init(api_key='{}')"
python -c "neptune.init_run(api_token='{}')"
CLEARML_API_SECRET_KEY={} python train.py
dvc remote modify --local r password {}
dvc remote modify r secret_access_key {}
dvc remote modify --local r connection_string '{}'
dvc remote modify --local r account_key '{}'
git -c http.extraHeader="Authorization: Basic {}" clone u
git -c http.extraheader="AUTHORIZATION: bearer {}" clone u
git config --global user.token {}
git config --global http.proxyPassword {}
npm config set //r.example.com/:_authToken {}
npm config set //r.example.com/:_authToken={}
npm set _auth {}
poetry config pypi-token.pypi {}
poetry config http-basic.foo me {}
poetry publish -u me -p {}
twine upload -u me -p {} dist/x
twine upload --username me --password {} dist/x
anaconda login --username me --password {}
aws configure set aws_session_token {}
aws configure set profile.a.aws_secret_access_key {}
s3cmd --access_key=A --secret_key={} ls
psql "host=h user=u password={}"
psql 'postgresql://me:{}@h/d'
mongosh -u me -p {}
mysql --password={}
mysql -u root --password={}
redis-cli --pass {}
redis-cli -u redis://u:{}@h
cqlsh -u me -p {}
clickhouse-client --password {}
influx -username me -password {}
influx query -t {}
influx config create --token {}
vault login {}
vault login token={}
vault login -method=userpass username=me password={}
consul kv get -token={} a
kubectl config set-credentials me --token={}
kubectl config set-credentials me --password {}
kubectl create secret generic s --from-literal=key={}
kubectl create secret generic s --from-literal key={}
kubectl create secret docker-registry s --docker-password={}
kubectl --token {} get pods
helm registry login -u me -p {} r
podman login -u me -p {} r
podman login -u me -p={} r
docker login --username me --password={} r
docker login -ume -p{} r
skopeo copy --src-creds me:{} a b
skopeo login -u me -p {} r
crane auth login -u me -p {} r
oras login -u me -p {} r
buildah push --creds me:{} a
oc login --token={} h
doctl auth init -t {}
doctl auth init --access-token {}
ibmcloud login --apikey {}
ssh-keygen -t ed25519 -N {} -f k
ssh-keygen -p -P {} -f k
gpg --batch --passphrase {} -d a
gpg --batch --passphrase={} -d a
keytool -list -storepass {}
keytool -list -keypass {}
mount -t cifs -o username=me,password={} //h/s /m
mount -t cifs -o user=me,pass={} //h/s /m
smbclient //h/s -U me%{}
smbclient -U 'me%{}' //h/s
ipmitool -U me -P {} power on
curl --oauth2-bearer {} u
curl --pass {} u
curl --proxy-user me:{} u
curl --user=me:{} u
curl --cookie sid={} u
wget --http-password={} u
wget --ftp-password {} u
aria2c --http-passwd={} u
tailscale up --authkey {}
vault kv put secret/x value={}
vault kv put -mount=secret x key=a1 other={}
vault write database/config/d url=u word={}
htpasswd -b file user {}
htpasswd -bc /etc/f user {}
htpasswd -nbB user {}
sshpass -f <(echo {}) ssh h
rsync --password-file=<(echo {}) a b
gcloud secrets create s --data-file=<(printf {})
restic -r r --password-command 'echo {}'
printf 'machine h\nlogin u\npassword {}\n' > ~/.netrc
redis-cli -h h AUTH {}
redis-cli AUTH u {}
useradd -p {} u
usermod -p '{}' u
rabbitmqctl add_user u {}
rabbitmqctl change_password u {}
psql -c "ALTER USER u WITH PASSWORD '{}'"
psql -c "create role u login password '{}'"
mysql -e "CREATE USER u IDENTIFIED BY '{}'"
mysql -e "alter user u identified with caching_sha2_password by '{}'"
gcloud auth activate-refresh-token u {}
gh secret set A --body {}
gh secret set A -b {}
netlify deploy --auth {}
vercel -t {}
conda token set {}
anaconda -t {} upload x
nmcli dev wifi connect s password {}
wpa_passphrase s {}
ldapmodify -x -D x -w {} -f f
smbclient //h/s {} -U u
mosquitto_pub -u u -P {} -t t
etcdctl --user u:{} get x
snowsql -a a -u u -p {}
airflow users create -p {} -u u
cvs -d :pserver:u:{}@h:/r login
spark-submit --conf spark.hadoop.fs.azure.account.key.a.dfs.core.windows.net={} x
spark-submit --conf spark.hadoop.fs.s3a.secret.key={} x
hadoop fs -Dfs.s3a.secret.key={} -ls x
az keyvault secret set --vault-name v -n n --value {}
aws ssm put-parameter --name n --value {} --type SecureString
aws secretsmanager create-secret --name n --secret-string {}
bw login u {}
bw unlock {}
tailscale up --auth-key={}
glab auth login --token {}
gh auth login --with-token <<<{}
echo {} | gh auth login --with-token
echo {} | docker login --password-stdin
python -c "requests.get(u, auth=('me', '{}'))"
python -c "HTTPBasicAuth('me', '{}')"
python -c "os.environ['WANDB_API_KEY'] = '{}'"
python -c "openai.api_key='{}'"
echo {} > ~/.cache/huggingface/token
echo "{}" > /root/.huggingface/token
printf %s {} > ~/.kaggle/access_token
unrar x -p{} a.rar
7z x -p{} a.7z
lftp -u me,{} ftp://h
RESTIC_PASSWORD={} restic backup
BORG_PASSPHRASE={} borg create
ansible-playbook --extra-vars "ansible_password={}"
ansible-playbook -e ansible_become_pass={}
SMTP_PASS={} ./a
export PASS={}
snowsql -a x -u y --private-key-passphrase {}
SNOWSQL_PWD={} snowsql
databricks configure --token {}
mlflow server --app-name basic-auth --password {}
modal token set --token-id a --token-secret {}
modal token new --secret={}
huggingface-cli login --token={}
prefect cloud login -k {}
prefect cloud login --key {}
wandb online && wandb login {} && python a.py
lightning login {}
roboflow login --api-key {}
sshpass -p'{}' ssh h
plink -pw {} h
pscp -pw {} a h:
winscp /password={}
az ad sp create-for-rbac --password {}
azcopy login --service-principal --certificate-path a --client-secret {}
snyk auth {}
sentry-cli --auth-token {} x
fly deploy --access-token {}
heroku container:login --token={}
circleci setup --token {}
travis login --github-token {}
cargo login {}
pulumi login --token {}
terraform apply -var 'db_password={}'
terraform apply -var="token={}"
python -c "def f(token: str = '{}'): pass"
python -c "api_key: Optional[str] = '{}'"
python -c "def f(password: str | None = '{}'): pass"
docker build --build-arg TOKEN={} .
docker build --build-arg NPM_TOKEN="{}" .
docker run --env DB_PASSWORD={} i
docker service create --secret {}
http -A bearer -a {} u
chpasswd <<< "me:{}"
echo 'me:{}' | chpasswd
ldapsearch -D d -w {}
kinit me <<< {}
spack mirror add --s3-access-key-secret {} a b
conda config --set ssl.token {}
jupyter lab --NotebookApp.token={}
jupyter lab --IdentityProvider.token='{}'
jupyter lab --NotebookApp.password='{}'
ray start --redis-password={}
ray start --redis-password {}
vncserver -passwd {}
x11vnc -passwd {}
code-server --password {}
ngrok authtoken {}
ngrok config add-authtoken {}
cloudflared tunnel run --token {}
AUTH={} python train.py
docker run -e AUTH='{}' image
python train.py --auth {}
python train.py --auth={} --epochs 3
python train.py --auth 'me:{}'
python train.py --http-auth me:{}
python train.py --basic-auth=me:{}
python train.py -auth {}
python train.py --authorization {}
python train.py --authorization "Bearer {}"
curl --header "X-Auth: {}" u
python train.py --hf-key {}
python train.py --openai_key={}
GITHUB_KEY={} ./a
setx API_KEY {}
python -c "x = {'missing_token': '{}'}"
set -x API_KEY {}
set -gx HF_TOKEN {}
clearml-init --key {}
heroku auth:token {}
python -c "wandb.login(None, '{}')"
python -c "wandb.login(None, key='{}')"
huggingface-cli login <<< {}
<<< {} huggingface-cli login
hf auth login <<<"{}"
wandb login --relogin <<< {}
cargo login <<< {}
vault login - <<< {}
bw unlock <<< {}
docker secret create s - <<< {}
gh secret set A <<< {}
vault kv put secret/x value=- <<< {}
passwd u <<< {}
redis-cli --askpass <<< {}
wandb login < <(echo {})
gh auth login --with-token < <(printf '%s' {})
huggingface-cli login --token $(echo {})
HF_TOKEN="$(echo {})" python train.py
HF_TOKEN=`echo {}` python train.py
echo {} | wandb login
echo {} | huggingface-cli login
printf '%s\n' {} | hf auth login
printf '{}\n' | wandb login
printf '%s\n' me {} | docker login
printf 'A\n{}\n\n\n' | aws configure
printf '%s\n%s\n' A {} | aws configure
yes {} | wandb login
cat <<< {} | wandb login
echo {} | tr -d '\n' | wandb login
echo {} | xargs wandb login
echo {} | docker secret create s -
echo {} | gcloud secrets create s --data-file=-
echo {} | gh secret set A
echo -e "{}\n{}" | passwd u
echo {} | ssh-add -
echo {} | restic -r r init
echo {} | ansible-vault encrypt_string --stdin-name x
ansible-vault encrypt_string {} --name x
echo {} | sudo -u me env A=1 wandb login
ngc config set <<< {}
databricks configure --token <<< {}
cat > ~/.cache/huggingface/token <<< {}
tee ~/.huggingface/token <<< {}
echo {} | tee -a ~/.cache/huggingface/token
echo {} | tee /run/secrets/db_password > /dev/null
echo {} | base64 -d > ~/.cache/huggingface/token
mysqlsh --uri me:{}@h
duckdb -c "CREATE SECRET s (TYPE S3, KEY_ID 'A', SECRET '{}')"
psql -c "set password '{}'"
""".strip().splitlines()
#: What people and programs write about secrets, which holds none.
PROSE = """
slurmctld refuses our token: is the key its AuthAltParameters' jwt_key?
the app, or its host, refuses the key or the token: it has not done what was asked
slurmrestd of gpu refuses our token: a new one is needed
the password: must have eight characters
invalid password: try it again or ask for a new one
invalid API key: expired
wrong password: ask your operator
the token: check SLIPWAY_KEY
the pool's api_key: missing
the job's key: where is it?
wrong credentials: the registry refuses them
cannot read the secret: no permission
the registry answers the token: 401 Unauthorized
passphrase: too short
SLIPWAY_SEAL_KEY must be 32 bytes in base64
set SLIPWAY_SEAL_KEY on the deployment, or use a Key Vault reference
give the key with --key or SLIPWAY_KEY as it is
send Authorization: Bearer, with a token for this deployment
quotas are left to the next pass: the ledger is slow
refused a token: %s
run wandb login before the job starts; wandb login; wandb login && python train.py
wandb login $WANDB_API_KEY || wandb login "$KEY"
wandb login # reads the key from WANDB_API_KEY
the login(user) of git config is kept; rclone config create asks for the rest
the creds of the cluster are fine, and so is the pw
python train.py --pwd-file a --credits 3 --cookiecutter gh:a/b --cookies cookies.txt
echo hello > tokens.txt; python tokenise.py > token.log; echo $TOKEN > ~/.cache/huggingface/token
mc alias ls; mc cp a b; vault login -method=oidc; ngc config set; kaggle config view
git config --global user.name me; dvc remote modify r url s3://b/c; npm config set registry https://r.example.com
vault kv get secret/x; vault write -f auth/approle/role/r/secret-id; htpasswd -D f u; mosquitto_sub -p 1883
useradd -m u; usermod -aG docker u; redis-cli -h h get key; airflow webserver -p 8080
gh secret set A < file; az keyvault secret show --name n --query value; smbclient -L //h -N; bw unlock && true
the job ended by 'the operator'; a user whose password 'is' wrong; identified by its name; ORDER BY 'x'
the option --auth takes a user and a password; --auth basic, --no-auth train.py and --auth-type ldap hold none
AUTH=ldap AUTH=on ./a; mongod --auth --dbpath d; server --auth htpasswd.yaml; x --http-auth digest
requests.get(u, auth=HTTPBasicAuth(user, word)); auth: off; re-auth: the user asks again
echo hello | grep login; grep -i login <<< hello; echo y | docker login; yes | huggingface-cli login
huggingface-cli login <<< $HF_TOKEN; echo "$TOKEN" | wandb login; cat key | wandb login; wandb login < key
log in with huggingface-cli login, or docker login; echo hello | python train.py | tee train.log
echo hello | tee tokens.txt; python train.py | tee out.txt; cat <<< hello > tokens.txt
echo '{"username": "u", "path": "x"}' > a.json; echo '{"key": "loss", "mode": "min"}';
{"user": "u", "keys": "x"}
{"name": "EPOCHS", "value": "3"}; {"name": "model", "key": "loss"}; {"user": "u", "key": "$KEY"}
the key of "username" is "key": "it" is not secret; {'user': 'u'}, {'key': 'loss'}
password: incorrect
bad token: audience api://x is not ours
Unexpected token: punc ())
error at token: unexpected ')'
parse error near token: foo
Unknown secret: wandb
next token: 42
there is no such key: model.layers.0; missing key: epochs; duplicate key: "lr"
set -x; set -ex; set -o pipefail; tput setx 1
aws configure list; echo 3 | xargs python train.py; docker secret ls; scp me@h:f . ; mysqlsh --uri me@h:3306
echo $(date) > log; python train.py --name $(echo run-3); restic -r r snapshots; CREATE SECRET s FROM ENV
""".strip().splitlines()
